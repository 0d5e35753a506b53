"""What a metric looks at: in a class map every pixel, in a sequence every step, of a plain sample itself.

What does not count is marked in the targets: by `IGNORED` in class numbers, by NaN in numbers and labels.
"""

import torch


def channels_last(output: torch.Tensor) -> torch.Tensor:
    """The output with its channels as the last axis: they are the second one of features, images and volumes, and the
    last one of sequences."""
    return output.movedim(1, -1) if output.ndim > 3 else output


def numbers_last(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs and targets as samples × elements × responses, in double precision."""
    shape = (len(output), -1, channels_last(output).shape[-1])
    if len(output) == 0:  # nothing to tell the number of elements by
        nothing = torch.zeros(0, 1, shape[2], dtype=torch.double, device=output.device)
        return nothing, nothing
    return channels_last(output).reshape(shape).double(), channels_last(target).reshape(shape).double()


def run_of_each(counts: torch.Tensor) -> torch.Tensor:
    """For each sample the number of its run."""
    return torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
