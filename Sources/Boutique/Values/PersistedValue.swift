/// A single value that is kept somewhere, read and changed without waiting.
///
/// ``StoredValue`` is one. A wrapper that conforms implements ``modify(_:)`` and gets the helpers: `toggle()`,
/// `append(_:)`, `update(key:value:)` and so on, for values that are always there and for optional ones.
///
/// A wrapper whose changes cannot be refused has the failure `Never`, and its helpers need no `try`.
public protocol PersistedValue<Value>: Sendable {

    /// The type of the value; an optional where it may be missing.
    associatedtype Value: StorableItem

    /// What a change can fail with.
    associatedtype Failure: Error

    /// Reads the value, changes it and stores it, in one step.
    ///
    /// Two changes never overlap, so none is lost, also if they come from different threads.
    ///
    /// - Parameter change: Changes the value. It must not change this value in another way.
    /// - Throws: ``Failure`` if the value was not changed.
    func modify(_ change: (inout Value) -> Void) throws(Failure)

    /// Stores a value in place of the one that is there.
    ///
    /// - Parameter value: The new value.
    /// - Throws: ``Failure`` if the value was not changed.
    func set(_ value: Value) throws(Failure)
}

extension PersistedValue {

    public func set(_ value: Value) throws(Failure) {
        try modify { $0 = value }
    }
}
