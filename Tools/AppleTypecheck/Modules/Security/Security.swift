// The declarations of Security that the sources use: none yet.
