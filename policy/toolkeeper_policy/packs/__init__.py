"""What do the shipped rule packs say?"""
