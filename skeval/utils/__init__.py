"""What every room uses: legal values of parameters, words and numbers, files, threads, limits."""
