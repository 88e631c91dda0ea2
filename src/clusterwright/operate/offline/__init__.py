"""Everything that a site without a way out needs: collected, checked, signed."""
