#if canImport(SwiftUI)
public import SwiftUI

extension AsyncStoredValue: DynamicProperty {}

extension AsyncStoredValue {

    /// A binding to the value, for controls that change it.
    ///
    /// What a control sets is stored in the background, and shown when it is. If it cannot be stored, ``lastError`` says
    /// why.
    public var binding: Binding<Item> {
        Binding(get: { wrappedValue }, set: { core.setInBackground($0) })
    }
}
#endif
