"""All that needs PyTorch: sparse products, the layers of a pass, and the training."""
