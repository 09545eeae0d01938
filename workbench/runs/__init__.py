"""What a query gave, or must give: previews and runs."""
