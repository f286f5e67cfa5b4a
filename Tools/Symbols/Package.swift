// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "Symbols",
    platforms: [.macOS(.v14)],
    targets: [.executableTarget(name: "Symbols")],
    swiftLanguageModes: [.v6]
)
