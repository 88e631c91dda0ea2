"""A vendor's package repository for the lab: real packages of the real names, with simulators inside."""
