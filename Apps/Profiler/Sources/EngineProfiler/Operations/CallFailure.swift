import Bodega

/// The failure of a call, or a wrong result.
struct CallFailure: Error, Equatable {
    /// The key that the call concerns, if any.
    var key: CacheKey?
    /// The description of the failure.
    var message: String
}

/// The error of an engine that failed or returned a wrong result.
struct EngineFailure: Error, CustomStringConvertible {
    /// The engine's name.
    var engine: String
    /// The operation.
    var operation: String
    /// The number of items.
    var items: Int
    /// The failure of the call.
    var failure: CallFailure

    /// Wraps an error of an operation.
    init(engine: String, operation: String, items: Int, _ error: any Error) {
        self.engine = engine
        self.operation = operation
        self.items = items
        failure = error as? CallFailure ?? CallFailure(key: nil, message: "\(error)")
    }

    var description: String {
        let key = failure.key.map { ", key \($0)" } ?? ""
        return "The engine \"\(engine)\" failed. Operation \(operation), \(items) items\(key): \(failure.message)."
    }
}
