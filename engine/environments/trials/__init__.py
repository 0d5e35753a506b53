"""What suits a project here, found by trying: which way of dividing the work, the largest mini-batch."""
