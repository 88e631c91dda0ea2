"""What a project on Google Cloud tells about what a cluster would be made of. Nothing is made or changed."""
