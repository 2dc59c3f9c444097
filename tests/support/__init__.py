"""What several tests share: services, clients and tables."""
