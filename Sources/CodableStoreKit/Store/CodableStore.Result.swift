extension CodableStore {

    /// What became of one object of several.
    public enum Result {
        /// It was saved or deleted. A deleted object is as it was stored.
        case success(Object)
        /// It was not; the identifier and the cause.
        case failure(Object.ID, any Error)
    }
}

extension CodableStore.Result {
    /// The object, if it was saved or deleted.
    public var object: Object? {
        if case .success(let object) = self { object } else { nil }
    }

    /// Why it was not, if it was not.
    public var error: (any Error)? {
        if case .failure(_, let error) = self { error } else { nil }
    }
}

extension CodableStore.Result: Sendable where Object: Sendable, Object.ID: Sendable {}
