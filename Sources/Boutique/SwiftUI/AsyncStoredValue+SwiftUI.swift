#if canImport(SwiftUI)
public import SwiftUI

// There is no binding: a control shows what it has set at once, and an engine takes its time.
extension AsyncStoredValue: DynamicProperty {}
#endif
