/// A single stored value that is read and changed synchronously.
///
/// ``StoredValue`` conforms to it. A conforming wrapper implements ``modify(_:)`` and gets the helpers `toggle()`,
/// `append(_:)`, `update(key:value:)` and so on, for optional and other values.
///
/// A wrapper whose changes don't throw has the failure `Never`, and its helpers need no `try`.
public protocol PersistedValue<Value>: Sendable {

    /// The type of the value; an optional if the value can be missing.
    associatedtype Value: StorableItem

    /// The error of a change.
    associatedtype Failure: Error

    /// Reads the value, changes it and stores it: an atomic read-modify-write.
    ///
    /// Changes from several threads run one after the other, so none is lost.
    ///
    /// - Parameter change: Changes the value. It must not change this value by other means.
    /// - Throws: ``Failure`` if the value was not changed.
    func modify(_ change: (inout Value) -> Void) throws(Failure)

    /// Replaces the stored value.
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
