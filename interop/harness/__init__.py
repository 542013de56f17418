"""What interop/run is made of."""
