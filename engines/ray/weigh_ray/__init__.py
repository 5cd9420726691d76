"""Places processes of Weighbridge on the nodes of a Ray cluster and carries their lines; docs/SCALE-OUT.md has the protocol."""
