extension CodableStore {

    /// The result of an operation for one of several objects.
    public enum Result {
        /// The object was saved or deleted. A deleted object is as it was stored.
        case success(Object)
        /// The operation failed for the object with the identifier.
        case failure(Object.ID, any Error)
    }
}

extension CodableStore.Result {
    /// The object, or `nil` if the operation failed.
    public var object: Object? {
        if case .success(let object) = self { object } else { nil }
    }

    /// The error, or `nil` if the operation succeeded.
    public var error: (any Error)? {
        if case .failure(_, let error) = self { error } else { nil }
    }
}

extension CodableStore.Result: Sendable where Object: Sendable, Object.ID: Sendable {}
