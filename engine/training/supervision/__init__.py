"""Outside the workers: the coordinator, which starts them and writes how they end; the queue. Needs no torch."""
