// The declarations of UIKit that the sources and the tests use.

// As in Apple's module, importing it imports Foundation.
@_exported public import Foundation
