#if canImport(SwiftUI)
public import SwiftUI

extension StoredValue: DynamicProperty {}

extension StoredValue {

    /// A binding to the value, for controls that change it.
    public var binding: Binding<Item> {
        Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
    }
}
#endif
