"""Own machines from off to certified: started from their network batch after batch, and bootstrapped."""
