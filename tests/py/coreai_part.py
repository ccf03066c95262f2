"""The part of golden/coreai that the repository holds: python3 coreai_part.py ../../../shared/golden/coreai ../golden/coreai

Of each group of cases some for every kind of spec and some for every granularity, each with another input; of sequences one for
every calculator and granularity, and all that are about switches; of nested cases one of every kind, on a small input if there is
one. Inputs and parameters are kept as numbers, codes and outputs as hashes.
"""

import json
import shutil
import sys
from pathlib import Path

# One of so many pairs of a kind and a granularity; the group `big` says nothing that `small` does not.
EVERY = {'small': 4, 'half': 3, 'conv': 4, 'act': 4, 'float_range': 3, 'ste': 1}
NUMBERS = {'array', 'scale', 'zero_point', 'minval', 'running_min', 'running_max', 'scale_parent', 'minval_parent'}
HASHES = {
    'codes', 'fq', 'ste_mask', 'raw_scale', 'scale_codes', 'scale_decoded', 'raw_minval', 'minval_codes', 'minval_decoded',
    'raw_zero_point', 'fq_guarded',
}


def grouped(items, key):
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def diagonal(cases, every):
    """Some of each kind and of each granularity; of the inputs another one each time."""

    def kind(case):
        return json.dumps({**case['spec'], 'granularity': case['target']}, sort_keys=True)

    def grain(case):
        return json.dumps(case['spec']['granularity'])

    kinds, grains = list(grouped(cases, kind)), list(grouped(cases, grain))
    for (own, granularity), group in grouped(cases, lambda case: (kind(case), grain(case))).items():
        turn, rest = divmod(kinds.index(own) + grains.index(granularity), every)
        if rest == 0:
            yield group[(kinds.index(own) + turn) % len(group)]


def turns(groups):
    """One of each group, not always the first."""
    return [group[turn % len(group)] for turn, group in enumerate(groups.values())]


def sequence_kind(sequence):
    first, *_, last = sequence['id'].split('/')
    return sequence['id'] if first == 'flags' else (first, last)


def main(source, target):
    whole = json.loads((source / 'index.json').read_text())
    data = (source / 'data.bin').read_bytes()
    groups = grouped(whole['cases'], lambda case: case['id'].split('/')[0])
    nested = grouped(whole['composed_nested'], lambda case: case['id'].split('/')[0])
    small = {kind: [case for case in own if case['input'].startswith('B_')] or own for kind, own in nested.items()}
    part = {
        'cases': [case for name, every in EVERY.items() for case in diagonal(groups[name], every)],
        'sequences': turns(grouped(whole['sequences'], sequence_kind)),
        'composed_nested': turns(small),
    }
    rows = [row for own in part.values() for row in own]
    used = {row.get('input') for row in [*rows, *(step for row in rows for step in row.get('steps', []))]}
    inputs = {name: entry for name, entry in whole['inputs'].items() if name in used}

    numbers = set()

    def note(row):
        for field, value in row.items():
            if field in NUMBERS and isinstance(value, int):
                numbers.add(value)
            elif field == 'steps':
                for step in value:
                    note(step)

    for row in [*inputs.values(), *rows]:
        note(row)
    arrays, places, stored = [], {}, bytearray()

    def place(at):
        if at not in places:
            places[at] = len(arrays)
            array = dict(whole['arrays'][at])
            offset, length = array['offset'], array['length']
            array['offset'] = None
            if at in numbers and offset is not None:
                stored.extend(bytes(-len(stored) % 4))
                array['offset'] = len(stored)
                stored.extend(data[offset:offset + length])
            arrays.append(array)
        return places[at]

    def placed(row):
        return {
            field: [placed(step) for step in value] if field == 'steps'
            else place(value) if field in NUMBERS | HASHES and isinstance(value, int) else value
            for field, value in row.items()
        }

    out = {'inputs': {name: placed(entry) for name, entry in inputs.items()}}
    out |= {name: [placed(row) for row in own] for name, own in part.items()}

    def text(value):
        return json.dumps(value, separators=(',', ':'))

    lines = [f'"{name}": [\n' + ',\n'.join(map(text, own)) + '\n]' for name, own in [('arrays', arrays), *list(out.items())[1:]]]
    head = [f'"made_by": {text(whole["made_by"])}', f'"inputs": {text(out["inputs"])}']
    target.mkdir(parents=True, exist_ok=True)
    (target / 'index.json').write_text('{\n' + ',\n'.join(head + lines) + '\n}\n')
    (target / 'data.bin').write_bytes(stored)
    for name in ['validation.json', 'bits_per_weight.json']:
        shutil.copyfile(source / name, target / name)


main(*map(Path, sys.argv[1:3]))
