"""Everything that is drawn. A module draws one kind of figure; style holds colours and markers,
canvas what axes and labels have in common."""
