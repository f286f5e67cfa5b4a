// The declarations of SwiftUI that the sources use: none yet.
