"""Records on disk, and what is made of them: tables and pictures. Nothing here measures."""
