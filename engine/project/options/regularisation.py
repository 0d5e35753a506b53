"""What keeps weights and gradients small."""

import math

from engine.fields import Choice, Float, Record


def _clips(options: "RegularisationOptions") -> bool:
    return math.isfinite(options.gradient_threshold)


class RegularisationOptions(Record):
    """What keeps weights and gradients small."""

    l2_regularization = Float(
        1e-4,
        low=0.0,
        high=1000.0,
        label="L2 regularization",
        group="Regularisation",
        help="Weight decay: factor on weights, not on biases or normalisation; default 0.0001, as in MATLAB. "
        "It adds to the gradient; with adamw it shortens the weights themselves. torch: weight_decay, 0, "
        "on all parameters",
    )
    gradient_threshold = Float(
        math.inf,
        above=0.0,
        infinite=True,
        group="Regularisation",
        help="Limit that gradients are shortened to; default Inf: none, as in MATLAB. torch: max_norm of "
        "clip_grad_norm_, or clip_value",
    )
    gradient_threshold_method = Choice(
        "l2norm",
        options=("l2norm", "global-l2norm", "absolute-value"),
        notes={
            "l2norm": "Norm of each parameter's gradient",
            "global-l2norm": "Norm over all gradients (torch's clip_grad_norm_)",
            "absolute-value": "Each element by itself",
        },
        group="Regularisation",
        help="What the threshold is compared with; default l2norm, as in MATLAB; torch has clip_grad_norm_ "
        "(global-l2norm) and clip_grad_value_ (absolute-value)",
        visible_when=_clips,
    )
