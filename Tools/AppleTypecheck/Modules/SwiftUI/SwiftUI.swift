// The declarations of SwiftUI that the sources use. SwiftUI re-exports Combine.

@_exported import Combine
