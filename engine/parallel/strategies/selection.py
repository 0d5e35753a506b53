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
    return "ddp" if compresses or (device.type == "cuda" and all_learn) else "flat"


def strategy_for(
    options: EnvironmentOptions,
    network: nn.Module,
    group: ProcessGroup,
    device: torch.device,
    share: Share,
    name: str = "",
    called: nn.Module | None = None,
    *,
    all_learn: bool = True,
    is_static: bool = False,
) -> Strategy:
    """Return the strategy that the options select. Raises `ValueError` for an unknown name.

    name: overrides the strategy of the options, such as `flat` or `ddp`, the two forms of data parallel; without it
    `form_of_data_parallel` chooses between them. called: the module to call in training in place of the network, with
    the same parameters. all_learn: each parameter has a gradient in every step. is_static: all steps run the same
    computation, without micro-batches.
    """
    called = network if called is None else called
    if group.size == 1:
        from netwright.engine.parallel.strategies.single import Single

        return Single(network, called)
    wanted = name or options.strategy
    if wanted in ("auto", "data-parallel"):
        wanted = form_of_data_parallel(options, device, all_learn=all_learn)
    match wanted:
        case "fully-sharded":
            from netwright.engine.parallel.strategies.sharded import Sharded

            return Sharded(network, group, device, offload=options.cpu_offload)
        case "local-sgd":
            from netwright.engine.parallel.strategies.local_sgd import LocalSgd

            return LocalSgd(network, called, group, share, options.averaging_interval)
        case "flat":
            from netwright.engine.parallel.strategies.flat_all_reduce import FlatAllReduce

            return FlatAllReduce(network, called, group)
        case "ddp":
            from netwright.engine.parallel.strategies.ddp import Ddp

            return Ddp(
                network, called, group, device, options.gradient_compression, all_learn=all_learn, is_static=is_static
            )
    raise ValueError(f"There is no strategy '{wanted}'.")
