// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "DocumentationLint",
    platforms: [.macOS(.v14)],
    targets: [.executableTarget(name: "DocumentationLint")],
    swiftLanguageModes: [.v6]
)
