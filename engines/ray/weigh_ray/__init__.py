"""Places processes of Weighbridge on the nodes of a Ray cluster and carries their lines; docs/dev/CLUSTER.md has the protocol."""
