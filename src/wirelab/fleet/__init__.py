"""Many machines with one result: what the playbooks' controller and its workers say to each other."""
