#!/usr/bin/env bash
# Shows Netwright at work: the window with the digits example, or without a display the same example headless.
set -euo pipefail
cd "$(dirname "$0")/.."

example=resources/examples/digits.netwright

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname)" = Darwin ]; then
    exec .venv/bin/netwright "$example"
fi

echo "No display here (neither DISPLAY nor WAYLAND_DISPLAY is set): training the example headless instead."
run_dir=build/runs/$(date +%Y-%m-%d_%H-%M-%S)_digits_$$
mkdir -p build/runs
.venv/bin/netwright-engine train "$example" --environment multi-cpu --workers 2 --run-dir "$run_dir"
.venv/bin/netwright-engine export "$run_dir" -o build/digits.onnx
echo "The run is in $run_dir, the network in build/digits.onnx."
