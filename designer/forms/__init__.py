"""Forms made from declared fields: rows, and one editor a kind of field."""
