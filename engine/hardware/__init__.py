"""Devices of this machine: inventory, health checks and speed."""
