// Declarations that only Apple's Foundation has. Unlike the other modules here, no source imports this one by name: it
// is imported into every file, as if it were part of Foundation.

public import Foundation

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        fatalError("This module is for type-checking only.")
    }
}
