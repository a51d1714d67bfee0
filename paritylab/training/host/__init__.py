"""The host's side: worker threads, how much they take on, and which runs need not go on."""
