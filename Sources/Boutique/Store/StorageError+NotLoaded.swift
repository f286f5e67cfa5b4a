import Bodega

extension StorageError {
    /// The error of an operation on a store that is not loaded.
    static func notLoaded(_ cause: any Error) -> StorageError {
        StorageError(
            .storeNotLoaded,
            "The operation was refused, because the store could not be loaded. Nothing has changed. Call reload().",
            cause: cause
        )
    }
}

extension StorageError.Code {
    /// The store could not load its items, so it refuses to change them.
    public static let storeNotLoaded = StorageError.Code(rawValue: "storeNotLoaded")
}
