"""What runs the loop of divide, train and combine."""
