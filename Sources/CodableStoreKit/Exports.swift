// The API uses Bodega's errors, folders, and SQLite engine.
@_exported public import Bodega
