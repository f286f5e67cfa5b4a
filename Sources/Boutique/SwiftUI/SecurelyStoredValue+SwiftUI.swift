#if canImport(SwiftUI)
public import SwiftUI

extension SecurelyStoredValue: DynamicProperty {}

extension SecurelyStoredValue {

    /// A binding to the value, for controls that change it; `nil` removes it.
    ///
    /// A binding cannot throw. If the value cannot be stored, the previous value is unchanged, and ``lastError`` and
    /// the log contain the error.
    public var binding: Binding<Item?> {
        Binding(get: { wrappedValue }, set: { value in core.errors.loggingWrite { try set(value) } })
    }
}
#endif
