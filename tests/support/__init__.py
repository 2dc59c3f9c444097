"""Parts that several tests share: services, clients and tables."""
