#if canImport(SwiftUI)
public import SwiftUI

// There is no binding: a control expects its new value immediately, and an engine stores it asynchronously.
extension AsyncStoredValue: DynamicProperty {}
#endif
