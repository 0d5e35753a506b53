"""Choice of the parallel strategy of a run; only the module of the selected one is imported."""

import torch
from torch import nn

from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.strategies.strategy import Strategy
from netwright.engine.parallel.sync_batch_norm import Share
from netwright.engine.project.environment import EnvironmentOptions


def form_of_data_parallel(options: EnvironmentOptions, device: torch.device, *, all_learn: bool = True) -> str:
    """Return the form of data parallel: `ddp` or `flat`.

    `ddp` waits for every gradient, so it does not suit parameters without one, but only `ddp` supports compression.
    """
    compresses = options.gradient_compression != "none"
    return "ddp" if compresses or (device.type != "cpu" and all_learn) else "flat"


def strategy_for(
    options: EnvironmentOptions,
    network: nn.Module,
    group: ProcessGroup,
    device: torch.device,
    share: Share,
    name: str = "",
    module: nn.Module | None = None,
    *,
    all_learn: bool = True,
    is_static: bool = False,
) -> Strategy:
    """Return the strategy that the options select. Raises `ValueError` for an unknown name.

    name: overrides the strategy of the options, such as `flat` or `ddp`, the two forms of data parallel; without it
    `form_of_data_parallel` chooses between them. module: the one to call in training in place of the network, with
    the same parameters. all_learn: each parameter has a gradient in every step. is_static: all steps run the same
    computation, without micro-batches.
    """
    module = network if module is None else module
    if group.size == 1:
        from netwright.engine.parallel.strategies.single import Single

        return Single(network, module)
    strategy = name or options.strategy
    if strategy in ("auto", "data-parallel"):
        strategy = form_of_data_parallel(options, device, all_learn=all_learn)
    match strategy:
        case "fully-sharded":
            from netwright.engine.parallel.strategies.sharded import Sharded

            return Sharded(network, group, device, offload=options.cpu_offload)
        case "local-sgd":
            from netwright.engine.parallel.strategies.local_sgd import LocalSgd

            return LocalSgd(network, module, group, share, options.averaging_interval)
        case "flat":
            from netwright.engine.parallel.strategies.flat_all_reduce import FlatAllReduce

            return FlatAllReduce(network, module, group)
        case "ddp":
            from netwright.engine.parallel.strategies.ddp import Ddp

            return Ddp(network, module, group, options.gradient_compression, all_learn=all_learn, is_static=is_static)
    raise ValueError(f"There is no strategy '{strategy}'.")
