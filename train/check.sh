#!/bin/sh
# Follow the whole pipeline on a CPU with a tiny model, in an environment of its own (torch is large).
# Usage: train/check.sh [FOLDER]; the environment is made there once and used again.
set -eu
cd "$(dirname "$0")/.."
work=${1:-$(mktemp -d)}
python=${PYTHON:-python3}
if [ ! -x "$work/venv/bin/python" ]; then
    "$python" -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --requirement train/requirements.txt --editable .
fi
run() { "$work/venv/bin/python" -m "$@"; }

run train.tiny --out "$work"
run train.pairs --bench "$work/bench" --sets one,two --out "$work/pairs.jsonl"
for heat in 0.05 0.04,0.12; do
    run train.fit --bench "$work/bench" --pairs "$work/pairs.jsonl" --base "$work/base.safetensors" \
        --tokenizer "$work/tokenizer.json" --temperatures $heat --batch 16 --epochs 2 --rate 1e-3 \
        --out "$work/fitted-$heat.safetensors"
done
run train.fit --bench "$work/bench" --pairs "$work/pairs.jsonl" --base "$work/base.safetensors" \
    --tokenizer "$work/tokenizer.json" --guide "$work/fitted-0.05.safetensors" --batch 16 --epochs 1 --rate 1e-3 \
    --out "$work/guided.safetensors"
run train.average --out "$work/mean.safetensors" "$work/fitted-0.05.safetensors" \
    "$work/fitted-0.04,0.12.safetensors" "$work/guided.safetensors"
for layers in 0 static; do
    run train.distil --teacher "$work/mean.safetensors" --pairs "$work/pairs.jsonl" \
        --tokenizer "$work/tokenizer.json" --layers $layers --steps 20 --out "$work/student-$layers.safetensors"
done
for model in base mean student-0; do
    run train.convert --weights "$work/$model.safetensors" --tokenizer "$work/tokenizer.json" --out "$work/$model"
    echo "== $model"
    run train.report --model "$work/$model" --bench "$work/bench" --sets one,two --out "$work/report-$model"
done
run train.guard_stretches --every 800 --out "$work/cut"
run train.guard_teach --cut "$work/cut" --drawn 96 --jobs plain-0 --out "$work/taught"
run train.guard_teach --cut "$work/cut" --drawn 96 --jobs student-0 --by "$work/taught/opinions" --out "$work/one"
