"""How requests reach a running system, one module a transport."""
