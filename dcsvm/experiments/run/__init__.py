"""One execution of a recipe, from its data to its folder."""
