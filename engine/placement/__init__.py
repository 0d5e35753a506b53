"""The placement of a run: pure rules from options and a device inventory to workers and batches.

Pipeline stages are in `netwright.engine.project.pipeline_stages` and `stage_edits`, because the checks and the option
`stages` of a project need them, and placement stands above project.
"""
