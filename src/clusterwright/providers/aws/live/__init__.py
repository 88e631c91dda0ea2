"""What an account on AWS tells about what a cluster would be made of. Nothing is made or changed."""
