// The declarations of UIKit that the sources and the tests use.

// As in Apple's module: who imports it sees Foundation.
@_exported public import Foundation
