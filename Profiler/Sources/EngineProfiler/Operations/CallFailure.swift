import Bodega

/// A call failed or returned what it should not have.
struct CallFailure: Error, Equatable {
    /// The key concerned, if it was one.
    var key: CacheKey?
    /// What went wrong.
    var message: String
}

/// An engine that can't be profiled, because it failed or was wrong.
struct EngineFailure: Error, CustomStringConvertible {
    /// The engine's name.
    var engine: String
    /// What was being measured or done.
    var operation: String
    /// How many items there were.
    var items: Int
    /// What went wrong.
    var failure: CallFailure

    /// Names the failure of a call, or of anything else, after what was being done.
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
